package write

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// What a write says about the object that it is about: its uid, and the resource version that it is based on.

// checkNew refuses an object that does not exist yet if its resource version is none.
func checkNew(content value.Value) error {
	version := api.Meta(content, "resourceVersion")
	if version == "" {
		return nil
	}
	_, err := strconv.ParseUint(version, 10, 64)
	return err
}

// checkUID refuses, with 409, to write to another object than the one that the client read.
func (w *write) checkUID(live read.Live) error {
	uid := types.UID(api.Meta(live.Content, "uid"))
	if w.uid == "" || w.uid == string(uid) {
		return nil
	}
	key := w.Key()
	if w.dryRun { // which never reaches the part of a store that knows the first segment
		key = strings.TrimPrefix(key, "/registry")
	}
	return errors.NewConflict(w.Version.GroupResource(), w.ObjectName, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", key, w.uid, uid))
}

// checkVersion compares the resource version that an update is based on with that of live. The error is a 422 if it has none
// but must, a 409 if it is another, and a plain one if it is no number.
func (w *write) checkVersion(live read.Live, content value.Value) (value.Value, error) {
	had := api.Meta(content, "resourceVersion")
	if had == "" || had == "0" {
		if w.Version.Form.Unconditional() {
			return read.WithVersion(content, live.Record.Revision), nil
		}
		resource := w.Version.GroupResource()
		return content, api.Invalid(kschema.GroupKind{Group: resource.Group, Kind: resource.Resource}, w.ObjectName, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	}
	n, err := strconv.ParseUint(had, 10, 64)
	if err != nil {
		return content, err
	}
	if n != uint64(live.Record.Revision) {
		return content, api.Modified(w.Version.GroupResource(), w.ObjectName)
	}
	return content, nil
}
