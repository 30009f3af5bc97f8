/*
 * What the HTML page carries besides its data, compiled in: style and script (analyzer/html/ and
 * the chart library that Debian packages), the library's licence, and the policy that lets a
 * browser run nothing else.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_ASSETS_H
#define STAGEPROF_ANALYZER_PAGE_ASSETS_H

extern const char sp_page_style[], sp_page_script[], sp_page_licence[];
extern const char sp_page_policy[];

#endif
