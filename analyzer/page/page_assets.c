/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/page_assets.h"

#include "analyzer/text/embed_file.h"
#include "page_assets/page_policy.h"

SP_EMBED_FILE(sp_page_style, SP_PAGE_FOLDER "/page.css");
SP_EMBED_FILE(sp_page_script, SP_PAGE_FOLDER "/page.js");
SP_EMBED_FILE(sp_page_licence, SP_DYGRAPHS_LICENCE);

/*
 * The policy lets the browser load nothing from outside of the page, and run only the script and
 * style with these digests. data: is for the chart library's handles.
 */
const char sp_page_policy[] = "default-src 'none'; script-src " SP_PAGE_SCRIPT_DIGEST
			      "; style-src " SP_PAGE_STYLE_DIGEST "; img-src data:; base-uri "
			      "'none'; form-action 'none'";
