/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files built into the program for the HTML page: style and script (analyzer/page/html/ and the
 * chart library of Debian's package), the library's licence, and the policy that lets a browser run
 * nothing else.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_ASSETS_H
#define STAGEPROF_ANALYZER_PAGE_ASSETS_H

extern const char sp_page_style[], sp_page_script[], sp_page_licence[];
extern const char sp_page_policy[];

#endif
