def peak_of_a_step(step):
    step()
    return step.peak_bytes
