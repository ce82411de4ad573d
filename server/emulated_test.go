package server_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestEmulatedVersion checks what a server says of the release that it emulates, and which releases it does not emulate.
func TestEmulatedVersion(t *testing.T) {
	for _, c := range []struct{ version, minor, compatible, pages string }{
		{"", "37", "36", "200"}, {"1.37", "37", "36", "200"}, {"1.36", "36", "35", "200"}, {"1.35", "35", "34", "404"}, {"v1.34", "34", "34", "404"},
	} {
		s := servertest.New(t, server.Config{EmulatedVersion: c.version})
		said := documentOf(t, func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) }, "GET /version")
		got := [...]string{said.Get("minor").Str(), said.Get("emulationMinor").Str(), said.Get("minCompatibilityMinor").Str(),
			fmt.Sprint(servertest.Ask(s, "GET /statusz", "").Code), fmt.Sprint(servertest.Ask(s, "GET /flagz", "").Code)}
		if want := [...]string{"37", c.minor, c.compatible, c.pages, c.pages}; got != want {
			t.Errorf("%q: got %v, want %v", c.version, got, want)
		}
	}
	for version, want := range map[string]string{
		"1.33": "emulation version 1.33 is not between [1.34, 1.37.0]", "1.38": "emulation version 1.38 is not between [1.34, 1.37.0]",
		"next": "emulation version next is not between [1.34, 1.37.0]",
	} {
		if _, err := server.New(server.Config{EmulatedVersion: version}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", version, err, want)
		}
	}
}

// emulatedDocuments are requests for documents that say what a server serves.
var emulatedDocuments = []string{"GET /openapi/v2", "GET /api Accept=application/json" + aggregatedParams, "GET /apis Accept=application/json" + aggregatedParams}

// TestEmulatedDocuments compares the documents of servers that emulate a release with those of a kube-apiserver with --emulated-version. The
// file has hashes of them. With DEED_PEER it asks that server instead, and records those of the release that it emulates.
func TestEmulatedDocuments(t *testing.T) {
	const file = "testdata/emulated.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if peer := os.Getenv("DEED_PEER"); peer != "" {
		send := func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) }
		release := "1." + documentOf(t, send, "GET /version").Get("emulationMinor").Str()
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, release+" ") })
		lines = append(lines, documentHashes(t, release, send)...)
		slices.Sort(lines)
		if err := os.WriteFile(file, []byte(strings.TrimSpace(strings.Join(lines, "\n"))+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var got []string
	for _, release := range []string{"1.34", "1.35", "1.36"} {
		s := servertest.Start(t, server.Config{EmulatedVersion: release})
		got = append(got, documentHashes(t, release, func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) })...)
	}
	slices.Sort(got)
	if !slices.Equal(got, lines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// documentHashes returns a line for each document: the release, the request, and a hash of the answer.
func documentHashes(t *testing.T, release string, send asker) []string {
	var out []string
	for _, request := range emulatedDocuments {
		out = append(out, fmt.Sprintf("%s %s %s", release, request, hashOf(documentOf(t, send, request).AppendJSON(nil)).Str()))
	}
	return out
}
