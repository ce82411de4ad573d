package read

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
)

// TestRoom grows lists while others are held. A short list always gets room, and so does a single list beyond the bound. Refused and
// released lists hold nothing.
func TestRoom(t *testing.T) {
	var of room
	long, other, short := &share{of: &of}, &share{of: &of}, &share{of: &of}
	for i, step := range []struct {
		by   *share
		n    int
		ok   bool
		held int64
	}{
		{other, freeRoom, true, 0},
		{other, 1, true, freeRoom + 1},
		{long, maxRoom - freeRoom - 1, true, maxRoom},
		{long, 1, false, maxRoom},
		{other, 1, false, maxRoom},
		{short, freeRoom, true, maxRoom},
	} {
		err := step.by.hold(step.n)
		if held := of.held.Load(); (err == nil) != step.ok || err != nil && !errors.IsTooManyRequests(err) || held != step.held {
			t.Errorf("step %d: %v, and %d bytes are held, want %d", i, err, held, step.held)
		}
	}
	other.leave()
	other.leave()
	if err := long.hold(2 * maxRoom); err != nil {
		t.Errorf("when the others are gone: %v", err)
	}
	long.leave()
	if held := of.held.Load(); held != 0 {
		t.Errorf("when all are gone, %d bytes are held", held)
	}
}
