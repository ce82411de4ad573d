package pair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// unequal are headers that differ from run to run.
var unequal = []string{"Date", "Content-Length", "Audit-Id", "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid", "Etag", "Last-Modified"}

// Compare returns the differences between two replies to one request, in code, headers and body. Bodies are compared as JSON, or as text if they
// are none. What differs from run to run is masked. If the kube-apiserver closed the connection, there is no difference.
func Compare(there, here Reply) (differences []string) {
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
		if a, b := maskedText(strings.Join(t, " | ")), maskedText(strings.Join(h, " | ")); a != b {
			note("header %s: %q there, %q here", name, a, b)
		}
	}
	there, err := there.Plain()
	here, errHere := here.Plain()
	if a, b := fmt.Sprint(err), fmt.Sprint(errHere); a != b { // bodies that neither side can decode are compared as texts
		note("decoding the body: %s there, %s here", a, b)
	}
	t, isJSON := Values(there.Body)
	h, both := Values(here.Body)
	if !isJSON || !both {
		if a, b := maskedText(string(there.Body)), maskedText(string(here.Body)); a != b {
			note("text: %q there, %q here", Cut(a), Cut(b))
		}
		return differences
	}
	if len(t) == 1 && len(h) == 1 && NamesAll(messageOf(t[0]), messageOf(h[0])) {
		t[0].(map[string]any)["message"] = messageOf(h[0])
	}
	Differ(plain(MaskedValue(t)), plain(MaskedValue(h)), "body", note)
	return differences
}

// messageOf returns the message of a Status.
func messageOf(v any) string {
	message, _ := Get(v, "message").(string)
	return message
}

// NamesAll reports whether the message here lists all type errors of an object. The message there has them in random order, and may have only
// some if one is about an unknown field: see docs/reference-faults.md.
func NamesAll(there, here string) bool {
	prefix, list, ok := strings.Cut(here, "errors:\n")
	rest, same := strings.CutPrefix(there, prefix)
	if !ok || !same {
		return false
	}
	listed := strings.Split(strings.TrimPrefix(list, "  "), "\n  ")
	some := strings.Split(strings.TrimPrefix(rest, "errors:\n  "), "\n  ")
	if len(some) < len(listed) && !strings.Contains(there, "field not declared in schema") {
		return false
	}
	return !slices.ContainsFunc(some, func(line string) bool { return !slices.Contains(listed, line) })
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
		return maskedText(v)
	}
	return v
}

// Values returns the JSON values in a body.
func Values(body []byte) (out []any, ok bool) {
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

// byChanceInText is what differs from run to run in texts that are no JSON, and in messages.
var byChanceInText = regexp.MustCompile(`(hash=)[0-9A-F]{128}|(resourceVersion: ")\d+|(resource version: )\d+|(current: )\d+|(continue: )\S+|((?:precondition|record)\s+\()\d+|[ER]S256`)

func maskedText(text string) string {
	return byChanceInText.ReplaceAllString(Masked(text), "${1}${2}${3}${4}${5}${6}MASKED")
}

// Cut returns a text, cut if it is long.
func Cut(text string) string {
	if len(text) > 600 {
		return text[:600] + "..."
	}
	return text
}

// Alike returns what differences that have the same cause have in common, as far as that can be seen.
func Alike(differences []string) string {
	return digits.ReplaceAllString(strings.Join(differences, ";"), "N")
}

var digits = regexp.MustCompile(`[0-9]+`)

// Show prints a request with its answers and their differences. title says which one it is.
func Show(title string, q Request, there, here Reply, differences []string) {
	body, ok := q.Body.([]byte)
	if !ok && q.Body != nil {
		body = []byte(Text(q.Body))
	}
	fmt.Printf("%s: %s %s\n", title, q.Method, q.Path)
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		fmt.Printf("  %s: %s\n", name, strings.Join(q.Header[name], " | "))
	}
	fmt.Printf("  content type %q, accept %q\n  body  %s\n  there %d %s\n  here  %d %s\n", q.ContentType, q.Accept, Cut(string(body)),
		there.Code, Cut(string(there.Body)), here.Code, Cut(string(here.Body)))
	for _, d := range differences {
		fmt.Println("  ", Cut(d))
	}
}
