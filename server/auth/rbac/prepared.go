package rbac

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for preparedFile
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
)

// Prepared texts are what a server stores of the initial objects, once their roles are aggregated. To write them costs much less than the
// requests that create the objects. TestPrepared compares the texts with what these requests store, and writes the file with -update.

//go:embed prepared.txt.gz
var preparedFile []byte

// Placeholders in prepared texts.
const (
	preparedUID  = "UID"
	preparedTime = "TIME"
)

// preparedText is a record before it has an identity. Its text has the UID once, and the time several times.
type preparedText struct{ key, text string }

// as returns the text of an object with a UID that was created at a time.
func (p preparedText) as(uid, at string) []byte {
	b := make([]byte, 0, len(p.text)+len(uid)+4*len(at))
	before, after, _ := strings.Cut(p.text, `"`+preparedUID+`"`)
	b = appendAt(b, before, at)
	b = append(b, '"')
	b = append(b, uid...)
	b = append(b, '"')
	return appendAt(b, after, at)
}

// appendAt appends text with a time in the places of preparedTime.
func appendAt(b []byte, text, at string) []byte {
	for {
		before, after, found := strings.Cut(text, `"`+preparedTime+`"`)
		if b = append(b, before...); !found {
			return b
		}
		b = append(b, '"')
		b = append(b, at...)
		b = append(b, '"')
		text = after
	}
}

// preparedTexts returns the prepared texts, by key. The lines of the file are keys and texts in turn.
var preparedTexts = sync.OnceValue(func() (out []preparedText) {
	z, err := gzip.NewReader(bytes.NewReader(preparedFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	all, err := io.ReadAll(z)
	if err != nil {
		panic(err) // as above
	}
	lines := strings.Split(strings.TrimSpace(string(all)), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		out = append(out, preparedText{lines[i], lines[i+1]})
	}
	return out
})

// prepare writes the prepared texts to a store without roles and bindings, and returns the revision of the last one. It returns 0 if there
// are some, or if another server writes some meanwhile.
func (a *Authorizer) prepare(ctx context.Context, now time.Time) (last store.Revision, err error) {
	for _, prefix := range []string{a.roles.Prefix, a.roleBindings.Prefix, a.clusterRoles.Prefix, a.clusterRoleBindings.Prefix} {
		page, err := a.store.Range(ctx, store.Range{Prefix: prefix, Limit: 1})
		if err != nil || len(page.Records) > 0 {
			return 0, err
		}
	}
	at := api.Timestamp(now)
	for _, p := range preparedTexts() {
		switch last, err = a.store.Put(ctx, p.key, p.as(string(uuid.NewUUID()), at), 0); {
		case errors.Is(err, store.ErrConflict):
			return 0, nil
		case err != nil:
			return 0, err
		}
	}
	return last, nil
}
