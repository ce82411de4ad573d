package pair

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAudits compares logs with equal and different events, with a request that one server was asked alone, and with an event that is lost.
func TestAudits(t *testing.T) {
	const (
		equal   = `{"auditID":"pair-1-1","verb":"get","annotations":{"a":"b"}}`
		slow    = `{"auditID":"pair-1-1","verb":"get","annotations":{"a":"b","apiserver.latency.k8s.io/total":"1s"}}`
		alone   = `{"auditID":"pair-2-1"}`
		began   = `{"auditID":"pair-3-1","stage":"RequestReceived"}`
		ended   = `{"auditID":"pair-3-1","stage":"ResponseComplete"}`
		allowed = `{"auditID":"pair-4-1","code":200}`
		refused = `{"auditID":"pair-4-1","code":403}`
		first   = `{"auditID":"pair-5-1","responseStatus":{"status":"Failure","code":409,"message":"a, b","details":{"causes":[1,2]}}}`
		second  = `{"auditID":"pair-5-1","responseStatus":{"status":"Failure","code":409,"message":"b, a","details":{"causes":[2,1]}}}`
		third   = `{"auditID":"pair-5-1","responseStatus":{"status":"Failure","code":422,"message":"a, b","details":{"causes":[1,2]}}}`
	)
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct {
		there, here string
		found       int
	}{
		{slow + alone + began, equal + began + ended, 0},
		{equal + allowed, equal + refused, 1},
		{began + ended, began, 1},
		{first, second, 0},
		{first, third, 1},
	} {
		found, err := (&Audits{write(c.there), write(c.here)}).Compare()
		if err != nil || found != c.found {
			t.Errorf("%s and %s: %d differ, %v, want %d", c.there, c.here, found, err, c.found)
		}
	}
	if _, err := (&Audits{write("{"), write("")}).Compare(); err == nil {
		t.Error("a log that is cut is read")
	}
	if found, err := (&Audits{}).Compare(); found != 0 || err != nil {
		t.Errorf("without logs: %d, %v", found, err)
	}
}
