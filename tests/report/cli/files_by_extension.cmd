$REPORT files --by=extension v1/run.zst
