#include "analyzer/page_assets.h"

#include "analyzer/asset.h"
#include "page_assets/page_policy.h"

SP_ASSET(sp_page_style, SP_PAGE_FOLDER "/page.css");
SP_ASSET(sp_page_script, SP_PAGE_FOLDER "/page.js");
SP_ASSET(sp_page_licence, SP_DYGRAPHS_LICENCE);

/*
 * No source of anything but what is in the page, and of that only the script and style of these
 * digests. data: is the chart library's handles.
 */
const char sp_page_policy[] = "default-src 'none'; script-src " SP_PAGE_SCRIPT_DIGEST
			      "; style-src " SP_PAGE_STYLE_DIGEST
			      "; img-src data:; base-uri 'none'; form-action 'none'";
