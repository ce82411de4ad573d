package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// TestRequests makes rounds, each twice. All forms of requests occur, each can be sent, and writes are dry runs.
func TestRequests(t *testing.T) {
	made := map[string]int{}
	for round := range uint64(50) {
		m, again := &maker{rand.New(rand.NewPCG(1, round))}, &maker{rand.New(rand.NewPCG(1, round))}
		if policy, same := pair.Text(contents(m)), pair.Text(contents(again)); policy != same {
			t.Fatalf("round %d has %s, and then %s", round, policy, same)
		}
		for n := range perRound {
			q, same := m.request(), again.request()
			if fmt.Sprint(q) != fmt.Sprint(same) {
				t.Fatalf("request %d is %v, and then %v", n, q, same)
			}
			if _, err := http.NewRequest(q.Method, "https://127.0.0.1"+q.Path, nil); err != nil {
				t.Errorf("request %d cannot be sent: %v", n, err)
			}
			form := "path"
			switch {
			case strings.HasSuffix(q.Path, "reviews"):
				form = "review"
			case strings.Contains(q.Path, "bindings"):
				form = "binding"
			case strings.Contains(q.Path, "dryRun=All"):
				form = "write"
			case q.Body != nil:
				t.Errorf("request %d changes something: %v", n, q)
			case strings.HasPrefix(q.Path, "/api/v1/"):
				form = "read"
			}
			made[form]++
			for name := range q.Header {
				made[name]++
			}
		}
	}
	for _, what := range []string{
		"path", "review", "binding", "write", "read", "Authorization", "Impersonate-User", "Impersonate-Group", "Impersonate-Uid",
	} {
		if made[what] < 100 {
			t.Errorf("%d requests have %s", made[what], what)
		}
	}
}

// contents returns the objects of the policy of a round.
func contents(m *maker) (out []any) {
	for _, o := range m.policy() {
		out = append(out, o.body)
	}
	return out
}
