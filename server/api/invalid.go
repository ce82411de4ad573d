package api

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid returns the 422 of errors.NewInvalid within bounds. A text beyond [MaxText] is cut. After [MaxTexts] of texts, the refusal only
// counts the remaining errors. The cost is bounded too: the library compares each error with all others, and prints a whole list for each
// error about it.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) *errors.StatusError {
	return invalid(kind, name, errs, false)
}

// InvalidOnce is Invalid without repeated errors: equal errors are one cause.
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

// bodyOf returns the library's text of an error. Only the begin of a long string is quoted.
func bodyOf(e *field.Error) string {
	text, ok := e.BadValue.(string)
	if !ok || len(text) <= MaxText {
		return e.ErrorBody()
	}
	short := *e
	short.BadValue = Clip(text, MaxText/2)
	return short.ErrorBody()
}

// typeMore is the type of the errors of [More].
const typeMore field.ErrorType = "More"

// More returns an error that stands for n further errors at the end of a list. Callers use it where the list itself would take too much
// memory.
func More(n int) *field.Error { return &field.Error{Type: typeMore, BadValue: n} }

// moreOf returns the number of errors that an error of More stands for, and whether it is one.
func moreOf(e *field.Error) (n int, is bool) {
	if e.Type == typeMore {
		return e.BadValue.(int), true
	}
	return 1, false
}
