package api

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Bounds on the texts of a refusal. JSON escapes can make a text six times as long, and an answer repeats each text: in the message and in
// a cause.
const (
	// MaxText bounds the text of one error.
	MaxText = 256 << 10
	// MaxTexts bounds all texts of a refusal together. The text that crosses the bound is the last one.
	MaxTexts = 512 << 10
	// MaxName bounds the name of an object in a refusal.
	MaxName = 96 << 10
)

// Clip returns at most about most bytes of text. If it cuts, it adds the number of bytes that are missing.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s… and %d more bytes", text[:most], len(text)-most)
}

// TooCostly refuses a request, with 422, whose cost is out of proportion to its size. The text names the bound that it exceeds.
func TooCostly(text string) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: text,
	}}
}

// Join joins texts by a separator within the bounds of a refusal. After them it says how many are missing.
func Join(texts []string, separator string) string {
	var b []byte
	for i, text := range texts {
		if i > 0 {
			b = append(b, separator...)
		}
		if len(b) > MaxTexts {
			return fmt.Sprintf("%sand %d more", b, len(texts)-i)
		}
		b = append(b, Clip(text, MaxText)...)
	}
	return string(b)
}

// bounded returns a Status within the bounds of a refusal.
func bounded(s metav1.Status) metav1.Status {
	s.Message = Clip(s.Message, MaxTexts+2*MaxText+8*MaxName) // the texts, one text beyond the bound, and the text around them
	if s.Details == nil {
		return s
	}
	details := *s.Details
	details.Name, details.Causes = Clip(details.Name, MaxName), boundedCauses(details.Causes)
	s.Details = &details
	return s
}

func boundedCauses(causes []metav1.StatusCause) []metav1.StatusCause {
	var out []metav1.StatusCause
	room := MaxTexts
	for i, c := range causes {
		if room < 0 {
			return append(out, more(len(causes)-i))
		}
		c.Message, c.Field = Clip(c.Message, MaxText), Clip(c.Field, MaxText)
		room -= len(c.Message) + len(c.Field)
		out = append(out, c)
	}
	return out
}

// more is the cause that says how many causes are missing.
func more(n int) metav1.StatusCause {
	return metav1.StatusCause{Message: fmt.Sprintf("and %d more", n)}
}
