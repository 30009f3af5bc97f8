# SPDX-License-Identifier: Apache-2.0
# cmake -DSTYLES=… -DSCRIPTS=… -DOUTPUT=folder -P page_assets.cmake: joins the files of the HTML
# page and writes their digests for its Content-Security-Policy.

function(join_files name files forbidden)
	set(text "")
	foreach(file IN LISTS files)
		file(READ ${file} one)
		string(REGEX REPLACE "[\r\n]*//[#] sourceMappingURL=[^\n]*|/[*]# sourceMappingURL=[^*]*[*]/" "" one "${one}")
		string(APPEND text "${one}\n")
	endforeach()
	string(TOLOWER "${text}" lower)
	if(lower MATCHES "${forbidden}|\r")
		message(FATAL_ERROR "${name}: ${CMAKE_MATCH_0} would not stand in a page as it is")
	endif()
	file(WRITE ${OUTPUT}/${name} "${text}")
endfunction()

# Three hexadecimal digits are two of base 64.
function(to_base64 hex ret)
	set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
	set(text "")
	string(REGEX MATCHALL "..?.?" groups "${hex}")
	foreach(group IN LISTS groups)
		string(LENGTH "${group}" length)
		if(length EQUAL 1) # the last four bits of 256
			math(EXPR value "0x${group} << 2")
			string(SUBSTRING ${digits} ${value} 1 low)
			string(APPEND text "${low}=")
		else()
			math(EXPR high "0x${group} >> 6")
			math(EXPR low "0x${group} & 63")
			string(SUBSTRING ${digits} ${high} 1 high)
			string(SUBSTRING ${digits} ${low} 1 low)
			string(APPEND text "${high}${low}")
		endif()
	endforeach()
	set(${ret} ${text} PARENT_SCOPE)
endfunction()

function(digest name ret)
	file(SHA256 ${OUTPUT}/${name} hex)
	to_base64(${hex} base64)
	set(${ret} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

join_files(page.css "${STYLES}" "</style|url\\(|@import")
join_files(page.js "${SCRIPTS}" "</script|<!--")
digest(page.css style)
digest(page.js script)
file(WRITE ${OUTPUT}/page_policy.h
	"#define SP_PAGE_STYLE_DIGEST \"${style}\"\n#define SP_PAGE_SCRIPT_DIGEST \"${script}\"\n")
