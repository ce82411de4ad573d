package api

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid returns what errors.NewInvalid returns: the error, with 422, that an object is refused with for what is wrong with it. Texts beyond
// [MaxText] are cut, and behind [MaxTexts] of them it says how many errors there are beyond. Its cost is bounded likewise: the library
// prints the same list for each of thousands of errors, and compares each with all others.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) *errors.StatusError {
	return invalid(kind, name, errs, false)
}

// InvalidOnce is Invalid for errors that may be the same: each of them is a cause once.
func InvalidOnce(kind schema.GroupKind, name string, errs field.ErrorList) *errors.StatusError {
	return invalid(kind, name, errs, true)
}

func invalid(kind schema.GroupKind, name string, errs field.ErrorList, once bool) *errors.StatusError {
	out := errors.NewInvalid(kind, Clip(name, MaxName), nil)
	said, texts := make(map[string]bool, min(len(errs), 1000)), make([]string, 0, min(len(errs), 1000))
	causes, left, room := out.ErrStatus.Details.Causes, 0, MaxTexts
	for _, e := range errs {
		if n, several := moreOf(e); several || room < 0 {
			left += n
			continue
		}
		at, body := Clip(e.Field, MaxText), Clip(bodyOf(e), MaxText)
		text := at + ": " + body
		had := said[text]
		if room -= len(text); !had {
			said[text] = true
			texts = append(texts, text)
		}
		if !had || !once {
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseType(e.Type), Message: body, Field: at})
		}
	}
	if left > 0 {
		texts, causes = append(texts, fmt.Sprintf("and %d more", left)), append(causes, more(left))
	}
	out.ErrStatus.Details.Causes = causes
	switch len(texts) {
	case 0:
	case 1:
		out.ErrStatus.Message += ": " + texts[0]
	default:
		out.ErrStatus.Message += ": [" + strings.Join(texts, ", ") + "]"
	}
	return out
}

// bodyOf returns what the library says of an error. Of a long string only the beginning is shown.
func bodyOf(e *field.Error) string {
	text, ok := e.BadValue.(string)
	if !ok || len(text) <= MaxText {
		return e.ErrorBody()
	}
	short := *e
	short.BadValue = Clip(text, MaxText/2)
	return short.ErrorBody()
}

// typeMore is the type of an error that stands for others.
const typeMore field.ErrorType = "More"

// More stands, at the end of a list, for n errors that are not told apart: to tell them apart takes too much memory.
func More(n int) *field.Error { return &field.Error{Type: typeMore, BadValue: n} }

// moreOf returns for how many errors an error stands, and whether it is one of More.
func moreOf(e *field.Error) (n int, is bool) {
	if e.Type == typeMore {
		return e.BadValue.(int), true
	}
	return 1, false
}
