def hottest_operator(prof):
    table = prof.key_averages().table(sort_by="self_cuda_time_total", max_name_column_width=60)
    return next(line.split()[0] for line in table.splitlines() if line.strip().startswith("aten::"))
