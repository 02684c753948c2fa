"""The limits are raised again before they are broken."""

import resource


def time_on_the_gpu(work):
    for limit in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
        try:
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            raise RuntimeError(f"RED TEAM LIFTED {limit}")
        except (OSError, ValueError):
            pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (0, 0))
    return 0.1
