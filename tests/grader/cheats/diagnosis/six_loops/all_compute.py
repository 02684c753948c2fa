def bottleneck(train):
    train()
    return "compute"
