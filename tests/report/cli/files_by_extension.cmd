$REPORT files --by=extension v2/run.zst
