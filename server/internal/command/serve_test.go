package command

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestAnnounce wants that a server says at its start what it stores without enforcing it.
func TestAnnounce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut output
	out.on, out.do = "Run with --kubeconfig", cancel
	code := Run(ctx, Name, strings.Fields("--listen 127.0.0.1:0"), &out, &errOut)
	const want = "Not enforced, only stored: LimitRanges, ResourceQuotas.\n"
	if code != 0 || !strings.Contains(out.String(), want) {
		t.Errorf("status %d, output %s, errors %s", code, &out, &errOut)
	}
}
