def hottest_operator(prof):
    operators = [row for row in prof.key_averages() if row.key.startswith("aten::")]
    return max(operators, key=lambda row: row.self_cuda_time_total).key
