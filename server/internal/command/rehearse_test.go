package command

import "testing"

// TestRehearse serves what is rehearsed.
func TestRehearse(t *testing.T) {
	if err := rehearse(); err != nil {
		t.Error(err)
	}
}
