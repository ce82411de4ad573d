package write

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// This file checks what a request demands of the stored object: its UID, and the resource version that the write is based on.

// checkNew refuses an object that does not exist yet if its resource version is no number.
//
// Whether the number fits is not checked here: a create refuses another number than 0 only after validation and admission, see storeNew.
func checkNew(content value.Value) error {
	version := api.Meta(content, "resourceVersion")
	if version == "" {
		return nil
	}
	_, err := strconv.ParseUint(version, 10, 64)
	return err
}

// CheckUID refuses, with 409, to write to another object than the one with a UID; "" is any.
//
// The text is that of kube-apiserver's storage layer, so it shows the key in the store. The UID in the object is empty if none is stored.
func CheckUID(q *rest.Request, live *read.Live, wanted string, dryRun bool) error {
	uid := types.UID(api.Meta(live.Content, "uid"))
	if wanted == "" || wanted == string(uid) {
		return nil
	}
	key := q.Key()
	if dryRun { // which never reaches the part of a store that knows the first segment
		key = strings.TrimPrefix(key, "/registry")
	}
	return errors.NewConflict(q.Version.GroupResource(), q.ObjectName, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", key, wanted, uid))
}

// checkVersion compares the resource version that an update is based on with that of live. The error is a 422 if a required version is
// missing, a 409 if the version is another, and a plain error if it is no number.
//
// It returns content with a version. Where the kind permits an update without one, the update is based on whatever is stored. "0" counts as
// none. The 422 has the resource in the place of the kind, as in kube-apiserver, whose generic store knows only the resource.
func checkVersion(q *rest.Request, live *read.Live, content value.Value) (value.Value, error) {
	had := api.Meta(content, "resourceVersion")
	if had == "" || had == "0" {
		if q.Version.Form.Unconditional() {
			return read.WithVersion(content, live.Record.Revision), nil
		}
		resource := q.Version.GroupResource()
		return content, api.Invalid(kschema.GroupKind{Group: resource.Group, Kind: resource.Resource}, q.ObjectName, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	}
	// Versions are compared as numbers: "07" is version 7.
	n, err := strconv.ParseUint(had, 10, 64)
	if err != nil {
		return content, err
	}
	if n != uint64(live.Record.Revision) {
		return content, api.Modified(q.Version.GroupResource(), q.ObjectName)
	}
	return content, nil
}

// CheckPreconditions refuses, with 409, to delete another object than the one that preconditions name. unnamed tells that a whole collection
// is deleted.
//
// Unlike checkVersion, it compares versions as texts. The UID comes first.
func CheckPreconditions(q *rest.Request, live *read.Live, p *metav1.Preconditions, unnamed bool) error {
	if p == nil {
		return nil
	}
	uid, version := api.Meta(live.Content, "uid"), api.Meta(live.Content, "resourceVersion")
	if p.UID != nil && string(*p.UID) != uid {
		return preconditionFailed(q, unnamed, "UID", string(*p.UID), uid, "deleted and then recreated")
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != version {
		return preconditionFailed(q, unnamed, "ResourceVersion", *p.ResourceVersion, version, "modified")
	}
	return nil
}

// preconditionFailed returns the 409 of a precondition. Namespaces and definitions have texts of their own, unless a whole collection is
// deleted.
func preconditionFailed(q *rest.Request, unnamed bool, what, asked, has, happened string) error {
	if begins := q.Version.PreconditionFailed; begins != "" && !unnamed {
		return errors.NewConflict(q.Version.GroupResource(), q.ObjectName, fmt.Errorf(
			"%s: %s in precondition: %s, %[2]s in object meta: %[4]s", begins, what, asked, has))
	}
	kind := kschema.GroupResource{Group: api.InternalGroup(q.Version.Group), Resource: q.Version.Kind}
	return errors.NewConflict(kind, q.ObjectName, fmt.Errorf("the %s in the precondition (%s) does not match the %[1]s in record (%[3]s). "+
		"The object might have been %[4]s", what, asked, has, happened))
}
