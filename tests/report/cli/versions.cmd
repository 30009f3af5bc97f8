for view in stages files threads dump; do
	for version in v1 v2; do
		$REPORT $view --format=json $version/run.zst >"$work/$view-$version" || exit 1
		sed -i "s|$version/run.zst|RUN|g" "$work/$view-$version"
	done
	cmp "$work/$view-v1" "$work/$view-v2" && echo "$view: both versions alike, $(wc -l <"$work/$view-v1") lines"
done
