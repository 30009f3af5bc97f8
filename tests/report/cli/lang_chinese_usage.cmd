export LANG=zh_CN.UTF-8 LC_ALL=
for words in "--nonsense" "--format=xml" "--format" "sumary v2/run.zst" "--steps=3 v2/run.zst" "--table=x v2/run.zst" "export nothing" "-xv" "--verbose=1" "stages --sort=nonsense v2/run.zst"; do
	$REPORT $words 2>&1; echo "status: $?"
done
