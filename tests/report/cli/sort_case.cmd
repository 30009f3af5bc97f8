for name in READS Read_Bytes "OPEN, CLOSE" SLO; do
	for view in stages files; do
		echo "$view $name"
		$REPORT $view --sort="$name" --limit=1 --format=csv v2/run.zst | cut -d, -f1-4
	done
done
