def bottleneck(train):
    train()
    return "input"  # it nearly always is
