package read

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/store"
)

// patience is how long a request waits for a revision that the store has not reached.
const patience = 3 * time.Second

// reach waits until the store is at a revision; 0 is any. The error is a 504 if that takes too long.
//
// A client may have the revision from another server on the same storage, which this one is about to see. kube-apiserver waits for its
// watch cache in the same way.
func (b *Reader) reach(ctx context.Context, asked uint64) error {
	if asked == 0 {
		return nil
	}
	current, err := b.latest(ctx)
	if err != nil || current >= asked {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Batches without events tell of the revision as well; see store.Batch. A prefix of "" is every key.
	batches, err := b.Store.Watch(patient, "", store.Revision(current))
	if err != nil {
		return err
	}
	for b, err := range batches {
		if err != nil {
			return err
		}
		if current = uint64(b.Revision); current >= asked {
			return nil
		}
	}
	// The request ended, rather than the patience with it.
	if err := ctx.Err(); err != nil {
		return err
	}
	// A watch of a store may not see what other processes write.
	if current, err = b.latest(ctx); err != nil || current >= asked {
		return err
	}
	return tooLarge(asked, current, 1)
}

// latest returns the revision of the store.
func (b *Reader) latest(ctx context.Context) (uint64, error) {
	at, err := store.Latest(ctx, b.Store)
	return uint64(at), err
}

// tooLarge returns the 504 of a revision that the store does not reach in time. It tells the client to come again after some seconds; 0 tells
// nothing.
func tooLarge(asked, current uint64, seconds int) error {
	err := errors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, current), seconds)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
