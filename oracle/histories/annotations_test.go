package histories

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/value"
)

// TestAnnotationsAreCountedAsTheyAreHeld checks the size limit on annotations for kubectl's record. It applies in the version in which
// objects are held: v1 of a HorizontalPodAutoscaler has annotations that v2 lacks.
func TestAnnotationsAreCountedAsTheyAreHeld(t *testing.T) {
	live := `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"annotations":{%q:"{}","big":%q}},
		"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"web"},"metrics":[{"type":"Resource","resource":
		{"name":"memory","target":{"type":"Utilization","averageUtilization":70}}}]}}`
	const config = `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","spec":{"maxReplicas":4}}`
	outcomes := map[bool]int{}
	synctest.Test(t, func(t *testing.T) {
		w, err := Open("autoscalers", nil)
		if err != nil {
			t.Fatal(err)
		}
		for room := 0; room < 800; room += 50 {
			p := &Player{World: w}
			big := strings.Repeat("x", 256<<10-room)
			for _, op := range []Op{
				{Verb: Store, Endpoint: Endpoint{APIVersion: "autoscaling/v2"}, Body: fmt.Appendf(nil, live, lastApplied, big)},
				{Verb: Force, Endpoint: Endpoint{APIVersion: "autoscaling/v1"}, Manager: "kubectl", Body: []byte(config)},
			} {
				if diff, err := p.Play(op); diff != nil || err != nil {
					t.Fatalf("room for %d bytes: %.2000v %v", room, diff, err)
				}
			}
			outcomes[p.Live.Get("metadata", "annotations", lastApplied).Kind() == value.KindString]++
		}
	})
	if outcomes[true] < 3 || outcomes[false] < 3 {
		t.Errorf("the record is kept and dropped %v times", outcomes)
	}
}
