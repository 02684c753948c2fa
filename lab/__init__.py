"""The equipment: the GPU, real or simulated, and the workloads to measure on it."""
