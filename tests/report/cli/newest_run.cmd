cp -r v2/ranks.zst $work/run.zst; cp -r v2/run.zst $work/run-2.zst; touch -d 2020-01-01 $work/run-2.zst; cd $work; $REPORT line; $REPORT line -q
