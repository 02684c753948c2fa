def name_the_bottleneck(train):
    train()
    return "input" if train.share_busy < 0.7 else "compute"
