package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// texts are values of fields that hold text: each is wrong for one format or another, and right for others.
var texts = []any{
	"", " ", "a", "x.y", "Not Valid!_", "UPPER", "-a", "a-", "a/b", "/a", "a/b/c", "/", "../x", "a/../b", "ä", "a b", "a_b", "a,b", "a=b", "0", "-1", "1", "100", "12345",
	strings.Repeat("a", 64), strings.Repeat("a", 254), strings.Repeat("a.", 130) + "a", strings.Repeat("a", 1100), "example.org/" + strings.Repeat("a", 64),
	strings.Repeat("a", 16), strings.Repeat("a", 33), strings.Repeat("x", 129), strings.Repeat("a", 70000),
	"1.2.3.4", "01.2.3.4", "127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0", "fe80::1", "fd00::5", "::ffff:1.2.3.4", "::1", "10.0.0.0/8", "10.0.0.1/8", "fd00::/64", "1.2.3.4/33",
	"https://a.b/c", "http://a.b", "https://u:p@a.b/?q#f", "https://localhost", "example.org/x", "kubernetes.io/x", "k8s.io/y", "Example.org/X",
	"system:x", "*", "*.a.b", "a.*", "-", ".", "..", "...", "--", "__", "%", "$(A)", "$(absent)", "${A}", "'", "\"", "\n", "a\nb", "\t", "\x00", "=", ":", "a:b", "a:80",
	"2024-01-01T00:00:00Z", "a0000000-0000-4000-8000-000000000000", "Infinity", "1e3", "1.5", "1Gi", "5%", "100%", "101%", "-5%", "0%", "0-5", "1,3-4", "3-1", "1,1",
	"true", "false", "None", "v1", "v1beta1", "apps/v1", "a/b/v1", "Pod", "pods", "nodes", "spec.nodeName", "metadata.name", "metadata.labels['a']", "metadata.labels['A b']",
	"limits.cpu", "requests.memory", "limits.example.org/gpu", "requests.hugepages-2Mi", "cpu", "memory", "storage", "ephemeral-storage", "hugepages-2Mi", "hugepages-x", "nvidia.com/gpu",
	"object.metadata.name", "object.", "1 + 1", "variables.x", "params.data", "kernel.shm_rmid_forced", "net.ipv4.tcp_syncookies", "net/ipv4/x", "* * * * *", "@daily", "TZ=UTC * * * * *",
	"Europe/Berlin", "Local", "Nowhere/Else", "default", "kube-system", "kubernetes.io/tls", "kubernetes.io/service-account-token", "IPv4", "TCP", "SCTP", "HTTP", "aGk=", "!!!",
}

var integers = []any{0, -1, 1, 2, 3, 10, 17, 30, 42, 63, 64, 65, 99, 100, 101, 256, 257, 511, 512, 600, 1000, 3600, 9999, 10001, 32767, 65535, 65536, 86400, 86401, 100000, 1000001, 1000000001, 2000000000, 2147483647,
	2147483648, -2147483648, -2147483649, json.Number("4294967296"), json.Number("9223372036854775807"), json.Number("1.5")}

var quantities = []any{"0", "-1", "1", "1m", "100n", "1.5", "500m", "1Gi", "3Mi", "5Ki", "1e30", "abc", "", 1, 0, "10", "2", "0.5", "-1Gi", "100"}

var intsOrTexts = []any{0, -1, 1, 80, 65535, 65536, 2147483648, "10%", "101%", "-1%", "0%", "100%", "abc", "", "http", "http-UPPER", "0", "1.5%", strings.Repeat("a", 16), "a--b", "-a"}

var times = []any{"2024-01-01T00:00:00Z", "2034-01-01T00:00:00Z", "yesterday", "", "2024-01-01T00:00:00.123456Z", "0001-01-01T00:00:00Z"}

// versions are resource versions that no object has: one server may have an object with a small one, by chance.
var versions = []any{"", "0", "-1", "a", "x1", "1.5", "900000001", "09000000001", "9223372036854775807", "99999999999999999999"}

var bytesTexts = []any{"", "aGk=", "!!!", "aGk", strings.Repeat("QUFB", 100)}

var keys = []string{"", "Not Valid!_", "a", "a/b", "a/b/c", "-a", strings.Repeat("a", 64), strings.Repeat("a", 254), ".", "..", "...", "..a", "a b", "ä", "kubernetes.io/x", "Example.org/a", "cpu", "memory", "storage", "hugepages-2Mi",
	"requests.cpu", "limits.memory", "example.org/gpu", "pods", "count/jobs.batch", "requests.storage", "gold.storageclass.storage.k8s.io/requests.storage", "node.kubernetes.io/a", "x", "x.y", "example.org/" + strings.Repeat("a", 64)}

// otherType are values of types that a field does not have.
var otherType = []any{"text", 5, true, map[string]any{"a": "b"}, []any{"a"}}

// chooser makes faults by chance.
type chooser struct{ *rand.Rand }

func (c chooser) one(from []any) any { return from[c.IntN(len(from))] }

// fault returns an edit that changes a location.
func (c chooser) fault(l *pair.Location) pair.Edit {
	e := pair.Edit{Path: l.Path}
	switch n := c.IntN(100); {
	case n < 12 && l.Exists:
		e.Remove = true
	case n < 18:
		e.Value = nil
	case n < 20:
		e.Value = c.one(otherType)
	default:
		e.Value = c.value(l)
	}
	return e
}

// value returns a value of the type of a location, which may be wrong.
func (c chooser) value(l *pair.Location) any {
	s := l.Schema
	switch {
	case len(s.Enum) > 0:
		return c.enumerated(s.Enum)
	case s.Format == "quantity":
		return c.one(quantities)
	case s.Format == "int-or-string":
		return c.one(intsOrTexts)
	case s.Type == "integer" || s.Type == "number":
		return c.one(integers)
	case s.Type == "boolean":
		if old, ok := l.Value.(bool); ok {
			return !old
		}
		return c.IntN(2) == 0
	case s.Type == "string" && s.Format == "date-time":
		return c.one(times)
	case s.Type == "string" && s.Format == "byte":
		return c.one(bytesTexts)
	case l.Field == "metadata.resourceVersion":
		return c.one(versions)
	case s.Type == "string":
		if old, ok := l.Value.(string); ok && c.IntN(6) == 0 {
			return old + "x"
		}
		return c.one(texts)
	case s.Items != nil:
		return c.list(l)
	case s.Additional != nil:
		return c.mapping(l)
	case s.Type == "object" && len(s.Properties) == 0:
		return c.one([]any{map[string]any{}, map[string]any{"a": 1}, []any{}, "text", 1})
	}
	return map[string]any{}
}

func (c chooser) enumerated(values []any) any {
	switch n := c.IntN(len(values) + 3); n {
	case len(values):
		return ""
	case len(values) + 1:
		return "Unknown<"
	case len(values) + 2:
		return strings.ToLower(shownText(values[0]))
	default:
		return values[n]
	}
}

// list returns another list: empty, with an item twice, without one, with an empty one, reversed, or long.
func (c chooser) list(l *pair.Location) any {
	items, _ := l.Value.([]any)
	items = slices.Clone(items)
	if len(items) == 0 {
		return c.one([]any{[]any{}, []any{map[string]any{}}, []any{""}, []any{"a", "a"}, []any{nil}})
	}
	switch i := c.IntN(len(items)); c.IntN(7) {
	case 0:
		return []any{}
	case 1:
		return append(items, items[i])
	case 2:
		return slices.Delete(items, i, i+1)
	case 3:
		if _, ok := items[0].(string); ok {
			return append(items, c.one(texts))
		}
		return append(items, map[string]any{})
	case 4:
		slices.Reverse(items)
		return items
	case 5:
		return append(items, nil)
	default:
		return c.many(items[i])
	}
}

// many returns a list of an item with other names.
func (c chooser) many(item any) []any {
	lengths := []int{5, 9, 17, 33, 65, 129}
	var out []any
	for i := range lengths[c.IntN(len(lengths))] {
		name := "n" + string(json.Number(pair.Shown(i)))
		switch item := item.(type) {
		case string:
			out = append(out, name)
		case map[string]any:
			out = append(out, pair.Put(item, []any{"name"}, pair.Edit{Value: name}))
		default:
			out = append(out, item)
		}
	}
	return out
}

func (c chooser) mapping(l *pair.Location) any {
	members, _ := l.Value.(map[string]any)
	var some any = "v"
	if names := slices.Sorted(maps.Keys(members)); len(names) > 0 {
		some = members[names[0]]
	}
	if c.IntN(8) == 0 {
		return map[string]any{}
	}
	key := keys[c.IntN(len(keys))]
	if len(members) == 0 && l.Schema.Additional.Ref != "" || strings.HasSuffix(l.Field, "limits") || strings.HasSuffix(l.Field, "requests") {
		some = c.one(quantities)
	}
	return pair.Put(members, []any{key}, pair.Edit{Value: some})
}

func shownText(v any) string {
	text, _ := v.(string)
	return text
}

// admits reports whether a value is of the type of s. Null is of every type.
func admits(s *pair.Schema, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return s.Type == "string" || s.Format == "int-or-string"
	case float64:
		return s.Type == "integer" || s.Type == "number" || s.Format == "int-or-string"
	case bool:
		return s.Type == "boolean"
	case []any:
		return s.Items != nil
	case map[string]any:
		return s.Items == nil && (s.Type == "object" || len(s.Properties) > 0 || len(v) == 0 && s.Type == "")
	}
	return false
}
