"""The grader: runs submissions in processes of their own and turns checks into verdicts."""
