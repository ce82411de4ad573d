package rows

import (
	"testing"

	"github.com/deed-project/deed/oracle/bench/measure"
)

// Every row can be built, and both sides come to the same answer, also when workers do their work once more: what a run does
// to the inputs of the next one changes nothing.
func TestSidesAgree(t *testing.T) {
	for _, group := range Groups() {
		for _, row := range group.Rows {
			t.Run(row.Name, func(t *testing.T) {
				if row.Large {
					t.Skip("takes seconds; the benchmark itself, which compares the answers too, has this row")
				}
				t.Parallel()
				deed, peer, err := row.Sides()
				if err != nil {
					t.Fatal(err)
				}
				plan := measure.Plan{Clock: measure.Wall, Pairs: 1}
				if _, err := measure.Compare(deed, peer, max(1, row.Workers), plan); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
