"""Another program is started in the background, as a shell would, and writes what it finds."""

import subprocess


def time_on_the_gpu(work):
    subprocess.Popen(
        ["sh", "-c", "nohup sleep 3600 & cp /etc/passwd /tmp/taken_by_red_team; sleep 3600"], start_new_session=True
    )
    return 0.1
