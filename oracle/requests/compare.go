package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// unequal are headers that differ from run to run.
var unequal = []string{"Date", "Content-Length", "Audit-Id", "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid", "Etag", "Last-Modified"}

// compare returns the differences between two answers to one request.
func compare(there, here pair.Reply) (differences []string) {
	note := func(format string, a ...any) { differences = append(differences, fmt.Sprintf(format, a...)) }
	if there.Code == 0 { // the real server panics, or waits for too long
		return nil
	}
	if there.Code != here.Code {
		note("code: %d there, %d here", there.Code, here.Code)
	}
	all := maps.Clone(there.Header)
	maps.Copy(all, here.Header)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(unequal, name) {
			continue
		}
		t, h := there.Header.Values(name), here.Header.Values(name)
		h = slices.DeleteFunc(slices.Clone(h), func(v string) bool { return strings.Contains(v, "this server stores") })
		if a, b := masked(strings.Join(t, " | ")), masked(strings.Join(h, " | ")); a != b {
			note("header %s: %q there, %q here", name, a, b)
		}
	}
	there, err := there.Plain()
	if err != nil {
		note("body there: %v", err)
	}
	if here, err = here.Plain(); err != nil {
		note("body here: %v", err)
	}
	t, isJSON := values(there.Body)
	h, both := values(here.Body)
	if !isJSON || !both {
		if a, b := masked(string(there.Body)), masked(string(here.Body)); a != b {
			note("text: %q there, %q here", cut(a), cut(b))
		}
		return differences
	}
	pair.Differ(plain(pair.MaskedValue(t)), plain(pair.MaskedValue(h)), "body", note)
	return differences
}

// plain returns a masked value with its messages masked further.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = plain(member)
		}
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	case string:
		return masked(v)
	}
	return v
}

// values returns the JSON values in a body.
func values(body []byte) (out []any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// byChance is what differs from run to run in texts that are no JSON, and in messages.
var byChance = regexp.MustCompile(`(hash=)[0-9A-F]{128}|(resourceVersion: ")\d+|(resource version: )\d+|(current: )\d+|(continue: )\S+|((?:precondition|record)\s+\()\d+|[ER]S256`)

func masked(text string) string {
	return byChance.ReplaceAllString(pair.Masked(text), "${1}${2}${3}${4}${5}${6}MASKED")
}

// sameness returns what two differences have in common that have the same cause, as far as that can be seen.
func sameness(q request, differences []string) string {
	return q.Method + " " + q.form + " " + digits.ReplaceAllString(strings.Join(differences, ";"), "N")
}

var digits = regexp.MustCompile(`[0-9]+`)

func cut(text string) string {
	if len(text) > 600 {
		return text[:600] + "..."
	}
	return text
}

// show prints a request with its answers.
func show(round, n int, q request, there, here pair.Reply, differences []string) {
	body, _ := q.Body.([]byte)
	fmt.Printf("round %d, request %d: %s %s\n  content type %q, accept %q\n  body  %s\n  there %d %s\n  here  %d %s\n", round, n, q.Method, q.Path,
		q.ContentType, q.Accept, cut(string(body)), there.Code, cut(string(there.Body)), here.Code, cut(string(here.Body)))
	for _, d := range differences {
		fmt.Println("  ", cut(d))
	}
}
