package server_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// counts are the counters of a server's metrics, by name and labels.
type counts map[string]float64

// counted are the metrics that a transcript shows. Those of a kube-apiserver also count what its own clients ask for, and the events that they
// receive.
var (
	counted = regexp.MustCompile(`^apiserver_((?:request_total\{|request_duration_seconds_count\{|request_sli_duration_seconds_count\{|response_sizes_count\{` +
		`|requested_deprecated_apis\{|watch_events_total\{group="example.org"|watch_events_sizes_count\{group="example.org").*\}) (\S+)$`)
	byItself = regexp.MustCompile(`resource="(leases|apiservices|customresourcedefinitions)"|subresource="(/readyz|openapi/v3)"`)
)

// countsOf reads the metrics of a server, a moment after the last request has ended.
func countsOf(ask func(request, body string) *httptest.ResponseRecorder) counts {
	time.Sleep(300 * time.Millisecond)
	out := counts{}
	for line := range strings.Lines(ask("GET /metrics", "").Body.String()) {
		m := counted.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || byItself.MatchString(m[1]) {
			continue
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			panic(err) // cannot happen: a server writes numbers
		}
		out[m[1]] = n
	}
	return out
}

// since returns the lines of a transcript with what has changed since before.
func (c counts) since(before counts) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if more := c[name] - before[name]; more != 0 {
			lines = append(lines, fmt.Sprintf("> %s %+g", strings.ReplaceAll(name, `"`, ""), more))
		}
	}
	return strings.Join(lines, "\n")
}
