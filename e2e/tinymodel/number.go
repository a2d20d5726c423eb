package tinymodel

import (
	"encoding/binary"
	"math"
)

// kind is how the numbers of a tensor are stored.
type kind struct {
	code      uint32 // in the tensor directory
	size      int    // bytes a number
	appendRow func(dst []byte, row []float32) []byte
}

// Norms are kept in single precision, matrices in half.
var (
	single = kind{code: 0, size: 4, appendRow: appendSingle}
	half   = kind{code: 1, size: 2, appendRow: appendHalf}
)

// fileTypeHalf is the model's "mostly half precision".
const fileTypeHalf = 1

func appendSingle(dst []byte, row []float32) []byte {
	for _, f := range row {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst
}

func appendHalf(dst []byte, row []float32) []byte {
	for _, f := range row {
		dst = binary.LittleEndian.AppendUint16(dst, toHalf(f))
	}
	return dst
}

// toHalf converts to IEEE 754 half precision, to nearest, ties to even.
func toHalf(f float32) uint16 {
	const (
		infinity = 255 << 23        // exponent all ones
		overflow = 0x477ff000       // 65520, half-way between the largest half and the next
		smallest = 113 << 23        // 2^-14, the smallest normal half
		rebias   = 112 << 23        // difference of the exponents' biases, 127 and 15
		steps    = float64(1 << 24) // steps of a subnormal half in 1
	)
	bits := math.Float32bits(f)
	sign, abs := uint16(bits>>16)&0x8000, bits&^(1<<31)
	switch {
	case abs > infinity:
		return sign | 0x7e00 // not a number
	case abs >= overflow:
		return sign | 0x7c00
	case abs < smallest:
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*steps))
	}
	abs += 0xfff + abs>>13&1 // 13 bits are dropped
	return sign | uint16((abs-rebias)>>13)
}
