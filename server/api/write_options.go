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

// FieldValidation says how unknown and duplicate fields of a request are handled.
type FieldValidation string

const (
	Ignore FieldValidation = "Ignore" // drop them
	Warn   FieldValidation = "Warn"   // drop them and add warnings; the default
	Strict FieldValidation = "Strict" // refuse the request
)

// WriteOptions are the parameters of a create, update or patch.
type WriteOptions struct {
	Manager    string // the field manager of the request; may be empty
	Validation FieldValidation
	DryRun     bool // do not store the outcome
	Force      bool // an apply takes ownership of conflicting fields
}

// ParseCreateOptions decodes the query of a create. The error is a 422 with all errors.
func ParseCreateOptions(query url.Values) (WriteOptions, error) {
	o := metav1.CreateOptions{
		FieldManager: query.Get("fieldManager"), DryRun: query["dryRun"], FieldValidation: query.Get("fieldValidation"),
	}
	errs := validation.ValidateCreateOptions(&o)
	return writeOptions(o.FieldManager, o.DryRun, o.FieldValidation, nil), invalidOptions("CreateOptions", errs)
}

// ParseUpdateOptions decodes the query of an update. The error is a 422 with all errors.
func ParseUpdateOptions(query url.Values) (WriteOptions, error) {
	o := metav1.UpdateOptions{
		FieldManager: query.Get("fieldManager"), DryRun: query["dryRun"], FieldValidation: query.Get("fieldValidation"),
	}
	errs := validation.ValidateUpdateOptions(&o)
	return writeOptions(o.FieldManager, o.DryRun, o.FieldValidation, nil), invalidOptions("UpdateOptions", errs)
}

// ParsePatchOptions decodes the query of a patch. The error is a 422 with all errors. An apply needs a manager, and only an apply may have
// force.
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

// invalidOptions returns a 422 for errs, or nil if there are none.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return Invalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// ManagerOr returns the field manager of a write. Without one, it is the User-Agent of the client up to the first slash, without
// unprintable characters and cut to 128 bytes.
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
