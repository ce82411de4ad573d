package pair

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Audits are the audit logs of both servers, which record requests by the same policy. Events of one request are found by its Audit-Id, which is
// the same on both sides: see auditID.
type Audits struct{ real, deed string }

// AuditFlags defines the flags that name the logs. Without them, [Audits.Compare] compares nothing.
func AuditFlags() *Audits {
	a := &Audits{}
	flag.StringVar(&a.real, "audit-real", "", "the file of --audit-log-path of the kube-apiserver; compared with that of --audit-deed in the end")
	flag.StringVar(&a.deed, "audit-deed", "", "the file of --audit-log-path of the deed-apiserver")
	return a
}

// auditID returns the Audit-Id of a request: what it asks, and how often the server was asked that.
func (s *Server) auditID(r *http.Request, body []byte) string {
	h := fnv.New64a()
	fmt.Fprintln(h, r.Method, r.URL.RequestURI(), r.Header)
	h.Write(body)
	sum := h.Sum64()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[sum]++
	return fmt.Sprintf("pair-%016x-%d", sum, s.asked[sum])
}

// Compare prints the requests whose events differ, and returns their number. It prints differences that have the same cause once.
func (a *Audits) Compare() (found int, err error) {
	if a.real == "" || a.deed == "" {
		return 0, nil
	}
	time.Sleep(time.Second) // the last events are written after their answers
	there, err := auditEvents(a.real)
	if err != nil {
		return 0, err
	}
	here, err := auditEvents(a.deed)
	if err != nil {
		return 0, err
	}
	seen, both := map[string]bool{}, 0
	asked := func(events map[string][]any) map[string]int { // how often, by what is asked
		out := map[string]int{}
		for id := range events {
			out[what(id)]++
		}
		return out
	}
	askedThere, askedHere := asked(there), asked(here)
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if askedThere[what(id)] != askedHere[what(id)] {
			continue // asked of one server alone, or until it answers
		}
		if len(there[id]) == 1 && len(here[id]) > 1 {
			continue // a kube-apiserver loses events with texts that are no JSON
		}
		both++
		var differences []string
		Differ(plain(MaskedValue(there[id])), plain(MaskedValue(here[id])), "events", func(format string, a ...any) {
			differences = append(differences, fmt.Sprintf(format, a...))
		})
		if len(differences) == 0 {
			continue
		}
		found++
		if alike := Alike(differences); !seen[alike] {
			seen[alike] = true
			event, _ := there[id][0].(map[string]any)
			fmt.Printf("audit of %v %v\n", event["verb"], event["requestURI"])
			for _, d := range differences {
				fmt.Println("  ", Cut(d))
			}
		}
	}
	fmt.Printf("%d requests are in both audit logs, %d differently\n", both, found)
	return found, nil
}

// Add compares the logs at the end of a campaign that found so many differences, and returns the number with those of the logs. It compares
// nothing if the campaign failed.
func (a *Audits) Add(found int, failure error) (int, error) {
	if failure != nil {
		return found, failure
	}
	more, err := a.Compare()
	return found + more, err
}

// what returns the part of an Audit-Id that says what is asked.
func what(id string) string { return id[:max(0, strings.LastIndex(id, "-"))] }

// auditEvents returns the events of requests of this package in an audit log, by their Audit-Id.
func auditEvents(file string) (map[string][]any, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string][]any{}
	d := json.NewDecoder(bufio.NewReader(f))
	d.UseNumber()
	for {
		event := map[string]any{}
		if err := d.Decode(&event); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		annotations, _ := event["annotations"].(map[string]any)
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return strings.HasPrefix(key, "apiserver.latency.k8s.io/") })
		for _, name := range []string{"responseObject", "responseStatus"} {
			// Refusals list faults and conflicts in a random order, or one of several. What the client was told has been compared.
			if status, ok := event[name].(map[string]any); ok && Get(status, "status") == "Failure" {
				delete(status, "message")
				delete(status, "details")
			}
		}
		id, _ := event["auditID"].(string)
		out[id] = append(out[id], event)
	}
}
