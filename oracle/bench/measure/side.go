package measure

import "fmt"

// Worker does one piece of work again and again. No two workers share inputs.
type Worker struct {
	// Run does the work once. An outcome that the work is meant to have, such as a conflict, is no error.
	Run func() error
	// Answer returns what the last Run came to, in a form that is the same for all sides.
	Answer func() (string, error)
	// Prepare, when not nil, makes inputs for the next n runs. It is not part of the work.
	Prepare func(n int) error
	// Inputs, when not 0, is how many different inputs Prepare makes before they come again. The work is done once with each
	// before anything is measured, as far as it remembers what it met.
	Inputs int
}

// Side makes workers that do a piece of work in one way. What workers of a side share must be safe for concurrent use.
type Side func() (Worker, error)

// workers returns n workers of s, each of which has run once.
func (s Side) workers(n int) ([]Worker, error) {
	workers := make([]Worker, n)
	for i := range workers {
		w, err := s()
		if err != nil {
			return nil, err
		}
		if err := w.prepare(1); err != nil {
			return nil, err
		}
		if err := w.Run(); err != nil {
			return nil, err
		}
		workers[i] = w
	}
	return workers, nil
}

// meetInputs does the work once with each of the inputs that come again.
func (w Worker) meetInputs() error {
	for left := w.Inputs; left > 0; left -= maxPreparedRuns {
		n := min(left, maxPreparedRuns)
		if err := w.prepare(n); err != nil {
			return err
		}
		if err := repeat(w, n); err != nil {
			return err
		}
	}
	return nil
}

func (w Worker) prepare(n int) error {
	if w.Prepare == nil {
		return nil
	}
	return w.Prepare(n)
}

// DifferenceError says that two sides do not come to the same.
type DifferenceError struct{ Deed, Peer string }

// Error shows where the answers part.
func (e *DifferenceError) Error() string {
	at := 0
	for at < min(len(e.Deed), len(e.Peer)) && e.Deed[at] == e.Peer[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-60):min(len(s), at+60)] }
	return fmt.Sprintf("answers differ at byte %d:\ndeed …%s…\npeer …%s…", at, around(e.Deed), around(e.Peer))
}

// sameAnswers returns an error unless both workers answer the same.
func sameAnswers(deed, peer Worker) error {
	got, err := deed.Answer()
	if err != nil {
		return err
	}
	want, err := peer.Answer()
	if err != nil {
		return err
	}
	if got != want {
		return &DifferenceError{Deed: got, Peer: want}
	}
	return nil
}
