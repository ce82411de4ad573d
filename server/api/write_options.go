package api

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FieldValidation says what becomes of fields that are sent and not known, or sent twice.
type FieldValidation string

const (
	Ignore FieldValidation = "Ignore" // they are dropped
	Warn   FieldValidation = "Warn"   // and the answer warns of them; the default
	Strict FieldValidation = "Strict" // they fail the request
)

// WriteOptions are the parameters of a create, update or patch.
type WriteOptions struct {
	Manager    string // the field manager that was named; empty if none was
	Validation FieldValidation
	DryRun     bool // nothing is stored
	Force      bool // of an apply: conflicts are decided for the applier
}

// ParseCreateOptions reads the query of a create. The error is a 422 with everything that is wrong with it.
func ParseCreateOptions(query url.Values) (WriteOptions, error) {
	o := metav1.CreateOptions{
		FieldManager: query.Get("fieldManager"), DryRun: query["dryRun"], FieldValidation: query.Get("fieldValidation"),
	}
	errs := validation.ValidateCreateOptions(&o)
	return writeOptions(o.FieldManager, o.DryRun, o.FieldValidation, nil), invalidOptions("CreateOptions", errs)
}

// ParseUpdateOptions reads the query of an update. The error is a 422 with everything that is wrong with it.
func ParseUpdateOptions(query url.Values) (WriteOptions, error) {
	o := metav1.UpdateOptions{
		FieldManager: query.Get("fieldManager"), DryRun: query["dryRun"], FieldValidation: query.Get("fieldValidation"),
	}
	errs := validation.ValidateUpdateOptions(&o)
	return writeOptions(o.FieldManager, o.DryRun, o.FieldValidation, nil), invalidOptions("UpdateOptions", errs)
}

// ParsePatchOptions reads the query of a patch. The error is a 422 with everything that is wrong with it: an apply needs a
// manager, and only an apply may be forced.
func ParsePatchOptions(query url.Values, patch types.PatchType) (WriteOptions, error) {
	o := metav1.PatchOptions{
		FieldManager: query.Get("fieldManager"), DryRun: query["dryRun"], FieldValidation: query.Get("fieldValidation"),
		Force: flag(query, "force"),
	}
	errs := validation.ValidatePatchOptions(&o, patch)
	return writeOptions(o.FieldManager, o.DryRun, o.FieldValidation, o.Force), invalidOptions("PatchOptions", errs)
}

func writeOptions(manager string, dryRun []string, validation string, force *bool) WriteOptions {
	o := WriteOptions{
		Manager: manager, Validation: FieldValidation(validation), DryRun: len(dryRun) > 0, Force: force != nil && *force,
	}
	if o.Validation == "" {
		o.Validation = Warn
	}
	return o
}

// invalidOptions refuses options for errs, and returns nil if there are none.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return Invalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// ManagerOr returns the field manager of a write: the one that was named, or else what the client calls itself in its
// User-Agent, up to the first slash, without what cannot be printed, and cut to 128 bytes.
func (o WriteOptions) ManagerOr(userAgent string) string {
	if o.Manager != "" {
		return o.Manager
	}
	program, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, r := range program {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
