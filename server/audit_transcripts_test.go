package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"

	"github.com/deed-project/deed/server/audit"
)

// auditLog is the audit log of a server, or that of the kube-apiserver that DEED_PEER names.
type auditLog struct {
	recorder *audit.Recorder
	peer     string // file of the log; "" for the log of recorder

	mu    sync.Mutex
	lines bytes.Buffer
	begun bool // since has been called
	shown int  // bytes that are not since the last call
}

func newAuditLog(t *testing.T) *auditLog {
	t.Helper()
	policy, err := os.ReadFile("testdata/audit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := &auditLog{peer: os.Getenv("DEED_PEER_AUDIT")}
	if l.recorder, err = audit.NewRecorder(policy, auditlog.NewBackend(l, auditlog.FormatJson, auditv1.SchemeGroupVersion)); err != nil {
		t.Fatal(err)
	}
	return l
}

// Write takes a line of the log.
func (l *auditLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(line)
}

// since returns the events since the last call, each in a line with sorted members, and nothing at the first call. Servers write the last event of a
// request after its answer.
func (l *auditLog) since(t *testing.T) string {
	t.Helper()
	time.Sleep(time.Second)
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.lines.Bytes()
	if l.peer != "" {
		var err error
		if text, err = os.ReadFile(l.peer); err != nil {
			t.Fatal(err)
		}
	}
	if !l.begun {
		l.begun, l.shown = true, len(text)
	}
	var out []string
	for line := range strings.Lines(string(text[l.shown:])) {
		out = append(out, "> "+auditLine(t, line))
	}
	l.shown = len(text)
	return strings.Join(out, "\n")
}

// auditLine returns how transcripts show an event.
func auditLine(t *testing.T, line string) string {
	t.Helper()
	event := map[string]any{}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	delete(event, "sourceIPs")
	delete(event, "userAgent")
	sorted, err := json.Marshal(event)
	if err != nil {
		panic(err) // it was JSON
	}
	text := string(sorted)
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.shown)
	}
	return text
}
