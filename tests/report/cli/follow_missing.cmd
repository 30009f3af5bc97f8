$REPORT --follow $work/missing.zst
