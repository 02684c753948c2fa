"""What did the GPU wait for? Reads any PyTorch trace and says so, or says why it can't."""
