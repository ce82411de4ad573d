package pair

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMark takes marks of pods, which have annotations and labels of their own, and of a kind that has none.
func TestMark(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	members, ofContainer := map[string]int{}, 0
	for range 1000 {
		member, name, _ := Mark("Pod", "web", r.IntN)
		if members[member]++; strings.Contains(name, "*") || strings.Contains(name, "autoscaling") {
			t.Errorf("a pod gets %s", name)
		}
		if strings.HasSuffix(name, "/web") {
			ofContainer++
		}
		if _, name, _ = Mark("ConfigMap", "", r.IntN); strings.Contains(name, "pod") {
			t.Errorf("a ConfigMap gets %s", name)
		}
	}
	if members["annotations"] < 100 || members["labels"] < 100 || ofContainer < 20 {
		t.Errorf("there are %v, and %d of a container", members, ofContainer)
	}
}
