package apitest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/apitest"
)

// TestKubectl runs the commands of testdata/kubectl.txt in order against one server. The file explains its format.
func TestKubectl(t *testing.T) {
	if testing.Short() {
		t.Skip("short: kubectl is started some forty times")
	}
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skipf("without kubectl: %v", err)
	}
	text, err := os.ReadFile("testdata/kubectl.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, apitest.CRDs("testdata/widgets.yaml"))
	k := kubectl{program, t.TempDir(), s.Kubeconfig()}
	ran := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		ran++
		k.check(t, lines[0], lines[1:])
	}
	if ran < 30 {
		t.Errorf("testdata/kubectl.txt has only %d commands", ran)
	}
}

// kubectl is a kubectl with its own home directory.
type kubectl struct{ program, home, kubeconfig string }

// check runs a command, and looks for texts in its output. A command in brackets must fail.
func (k kubectl) check(t *testing.T, command string, wanted []string) {
	t.Helper()
	fails := strings.HasPrefix(command, "[") && strings.HasSuffix(command, "]")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // far more than it needs, because the machine may be busy
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", strings.Trim(command, "[]"))
	run.Dir = "testdata/kubectl"
	run.Env = append(os.Environ(), "HOME="+k.home, "KUBECONFIG="+k.kubeconfig, "PATH="+filepath.Dir(k.program)+":"+os.Getenv("PATH"))
	run.WaitDelay = time.Second
	printed, err := run.CombinedOutput()
	if failed := err != nil; failed != fails {
		t.Errorf("%s\n%v\n%s", command, err, printed)
	}
	for _, want := range wanted {
		if not, absent := strings.CutPrefix(want, "! "); absent && strings.Contains(string(printed), not) {
			t.Errorf("%s\nprints %q:\n%s", command, not, printed)
		} else if !absent && !strings.Contains(string(printed), want) {
			t.Errorf("%s\ndoes not print %q:\n%s", command, want, printed)
		}
	}
}
