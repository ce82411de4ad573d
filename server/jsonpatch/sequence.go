package jsonpatch

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// sequence is a list of items in pieces. An insertion or a removal moves the items of one piece, where a slice would move those of the whole
// list:
//
//	pieces   [a b c] [d e] [f g h]     count 8
//	insert   x before item 4
//	pieces   [a b c] [d x e] [f g h]   count 9
//
// Invariant: no piece is empty, or longer than maxPiece.
type sequence struct {
	pieces [][]item
	count  int
}

// maxPiece is the length of the longest piece.
const maxPiece = 1024

// sequenceOf returns the items of a list of the document.
func sequenceOf(list value.Value) sequence {
	all := make([]item, 0, list.Len()+1) // many patches add one item
	for was := range list.Items() {
		all = append(all, item{was: was})
	}
	return cut(all)
}

// cut returns items as a sequence, which takes them over.
func cut(all []item) sequence {
	s := sequence{count: len(all)}
	for len(all) > maxPiece {
		s.pieces, all = append(s.pieces, all[:maxPiece:maxPiece]), all[maxPiece:]
	}
	if len(all) > 0 {
		s.pieces = append(s.pieces, all)
	}
	return s
}

// find returns the piece of an item, and its index in there. i is less than count.
func (s *sequence) find(i int) (piece, at int) {
	if i >= s.count/2 {
		piece, i = len(s.pieces), s.count-i
		for i > 0 {
			piece--
			i -= len(s.pieces[piece])
		}
		return piece, -i
	}
	for i >= len(s.pieces[piece]) {
		i -= len(s.pieces[piece])
		piece++
	}
	return piece, i
}

// at returns an item, which the caller may change.
func (s *sequence) at(i int) *item {
	piece, at := s.find(i)
	return &s.pieces[piece][at]
}

// insert inserts an item before index i, or at the end if i is count.
func (s *sequence) insert(i int, of item) {
	if s.count == 0 {
		*s = sequence{pieces: [][]item{{of}}, count: 1}
		return
	}
	piece, at := len(s.pieces)-1, 0
	if i < s.count {
		piece, at = s.find(i)
	} else {
		at = len(s.pieces[piece])
	}
	if full := s.pieces[piece]; len(full) == maxPiece {
		const half = maxPiece / 2
		s.pieces = slices.Insert(s.pieces, piece+1, slices.Clone(full[half:]))
		s.pieces[piece] = full[:half:half]
		if at > half {
			piece, at = piece+1, at-half
		}
	}
	s.pieces[piece] = slices.Insert(s.pieces[piece], at, of)
	s.count++
}

// remove removes an item.
func (s *sequence) remove(i int) {
	piece, at := s.find(i)
	if s.pieces[piece] = slices.Delete(s.pieces[piece], at, at+1); len(s.pieces[piece]) == 0 {
		s.pieces = slices.Delete(s.pieces, piece, piece+1)
	}
	s.count--
}

// all yields the items with their indexes.
func (s *sequence) all(yield func(int, item) bool) {
	i := 0
	for _, piece := range s.pieces {
		for _, of := range piece {
			if !yield(i, of) {
				return
			}
			i++
		}
	}
}
