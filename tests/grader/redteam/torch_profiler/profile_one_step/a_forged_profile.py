"""Plain data in the form that the grader gives a profile."""


def profile_one_step(step):
    row = {"key": "train_step", "count": 1, "self_device_us": 1000.0, "is_kernel": True}
    return {"$profile": {"activities": ["CPU", "CUDA"], "rows": [row]}}
