/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules DOCUMENT: the document on stdout, with each block of code whose language is the name of a
 * table below (```rules) filled from the verdict's own tables. Conditions are the tables' own
 * expressions.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metrics/metric.h"

#define CANNOT(reason) "cannot-tell, " reason

static const struct rule {
	const char *id, *code, *highest, *cost;
	double moderate, severe;
	const char *in_loop, *sign;
	double least_sign;
	const char *when, *refines;
} rules[] = {
#define SP_STATE(id, code, asked, confidence, when, ...)                                           \
	{#id, code, #confidence, NULL, 0, 0, "ALL", "steps", 0, #when, #id},
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, ...)                                                                      \
	{#id,	   code,  #confidence, #cost, moderate, severe,                                    \
	 #in_loop, #sign, least_sign,  #when, #refines},
#include "analyzer/verdict/verdict.def"
};

static const struct {
	const char *weight, *when, *text;
} doubts[] = {
#define SP_DOUBT(id, weight, when, text) {#weight, #when, text},
#include "analyzer/verdict/doubt.def"
};

static const struct {
	const char *id, *when, *makes;
} what_ifs[] = {
#define SP_WHAT_IF(id, title, change, when, makes, missing) {#id, #when, #makes},
#include "analyzer/verdict/whatif.def"
};

static const char *const steps[] = {
#define SP_TRANSITION(state, token, guard, next, action, why, suite, test) why,
#define SP_STEP_BEGIN(token, guard, why, suite, test) why,
#define SP_STEP_END(by, token, guard, why, suite, test) why,
#define SP_GAP(token, guard, phase, why, suite, test) why,
#define SP_PAUSE(what, when, why, suite, test) why,
#define SP_STEP_KIND(kind, when, why, suite, test) why,
#include "analyzer/steps/step.def"
};

#define USUAL 0.05
#define USUAL_SEVERE 0.2
#define COLUMNS 98 /* of a line of text */
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* The condition without the calls that only name a value: V(cores) is cores. */
static void put_expression(const char *text)
{
	static const char *const calls[] = {"V(", "UP_TO(", "GIVEN("};

	for (const char *p = text; *p;) {
		const char *end = NULL;

		for (size_t i = 0; i < COUNT(calls) && !end; i++) {
			size_t length = strlen(calls[i]);

			if ((p == text || !is_word(p[-1])) && strncmp(p, calls[i], length) == 0)
				end = p + length;
		}
		if (!end) {
			putchar(*p++);
			continue;
		}
		/* A call around the whole has its closing parenthesis at the end alone. */
		int depth = 1;
		const char *close = end;

		for (; *close && depth; close++)
			depth += (*close == '(') - (*close == ')');
		char *inner = strndup(end, (size_t)(close - end) - 1);

		if (!inner)
			exit(1);
		put_expression(inner);
		free(inner);
		p = close;
	}
}

static bool is_always(const char *when)
{
	return strcmp(when, "ALWAYS") == 0;
}

static void put_states(void)
{
	for (size_t i = 0; i < COUNT(rules); i++) {
		if (rules[i].cost)
			continue;
		printf("%-36s ", rules[i].code);
		put_expression(rules[i].when);
		putchar('\n');
	}
}

/* Begins a part of a line, after the parts before it. */
static void begin_part(unsigned *parts)
{
	fputs((*parts)++ ? "; " : "", stdout);
}

static void put_rule(const struct rule *rule)
{
	char name[64];
	unsigned parts = 0;

	snprintf(name, sizeof(name), "%s (%s)", rule->code, rule->id);
	printf("%-36s ", name);
	if (strcmp(rule->refines, "input") != 0 || strcmp(rule->id, "input") == 0) {
		begin_part(&parts);
		printf("%s", rule->cost);
	}
	if (rule->moderate != USUAL || rule->severe != USUAL_SEVERE)
		printf(" >= %.10g, severe %.10g", rule->moderate, rule->severe);
	if (strcmp(rule->sign, "steps") != 0) {
		begin_part(&parts);
		printf("%s >= %.10g", rule->sign, rule->least_sign);
	}
	if (!is_always(rule->when)) {
		begin_part(&parts);
		put_expression(rule->when);
	}
	if (strcmp(rule->refines, rule->id) != 0) {
		begin_part(&parts);
		printf("refines %s", rule->refines);
	}
	if (strcmp(rule->highest, "HIGH") != 0) {
		begin_part(&parts);
		printf("at most %s", strcmp(rule->highest, "LOW") ? "medium" : "low");
	}
	putchar('\n');
}

static void put_rules(void)
{
	for (size_t i = 0; i < COUNT(rules); i++)
		if (rules[i].cost)
			put_rule(&rules[i]);
}

static void put_doubts(void)
{
	for (size_t i = 0; i < COUNT(doubts); i++) {
		const char *weight = doubts[i].weight;
		/* The usual weight of an expression `rule ? 2 : 1` is its last one. */
		const char *usual = strrchr(weight, ':');

		printf("%s  %s\n", usual ? usual + 2 : weight, doubts[i].text);
	}
}

/* A sentence in lines of COLUMNS, which begins as an item of a list does. */
static void put_item(const char *text)
{
	size_t at = 1;

	putchar('-');
	while (*text) {
		size_t word = strcspn(text, " ");

		if (at + 1 + word > COLUMNS) {
			printf("\n ");
			at = 1;
		}
		printf(" %.*s", (int)word, text);
		at += 1 + word;
		text += word + strspn(text + word, " ");
	}
	putchar('\n');
}

static void put_steps(void)
{
	for (size_t i = 0; i < COUNT(steps); i++)
		put_item(steps[i]);
}

static void put_what_ifs(void)
{
	for (size_t i = 0; i < COUNT(what_ifs); i++) {
		printf("%-14s ", what_ifs[i].id);
		put_expression(what_ifs[i].when);
		printf(": ");
		put_expression(what_ifs[i].makes);
		putchar('\n');
	}
}

static const struct {
	const char *fence;
	void (*put)(void);
} tables[] = {
	{"```states\n", put_states},	 {"```rules\n", put_rules}, {"```doubts\n", put_doubts},
	{"```what-ifs\n", put_what_ifs}, {"```steps\n", put_steps},
};

/* Returns whether the lines that follow in the document are the table's old ones. */
static bool put_line(const char *line)
{
	fputs(line, stdout);
	for (size_t i = 0; i < COUNT(tables); i++)
		if (strcmp(line, tables[i].fence) == 0) {
			tables[i].put();
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	FILE *document = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool is_old = false;

	if (!document) {
		fprintf(stderr, "usage: rules DOCUMENT\n");
		return 2;
	}
	while (getline(&line, &room, document) > 0) {
		if (is_old && strcmp(line, "```\n") != 0)
			continue;
		is_old = put_line(line);
	}
	free(line);
	fclose(document);
	if (is_old)
		fprintf(stderr, "rules: a block of code has no end\n");
	return is_old || fflush(stdout) != 0;
}
