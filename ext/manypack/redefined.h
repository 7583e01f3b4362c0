/*
 * Methods of MessagePack's classes that a program has redefined. The msgpack gem packs and unpacks by calls of
 * Factory#packer, Packer#write and Packer#full_pack, and of Factory#unpacker, Unpacker#feed and Unpacker#full_unpack;
 * programs prepend to these methods, alias and stub them. Manypack makes these calls only if one of the methods is
 * redefined. lib/manypack/codec/redefined.rb notices that.
 */
#ifndef MANYPACK_REDEFINED_H
#define MANYPACK_REDEFINED_H

#include "base/support.h"

/* Called by the drop-in with the module MessagePack and its DefaultFactory. Until then, nothing counts as redefined. */
void mp_redefined_watch(VALUE front, VALUE factory);

/*
 * True if one of these methods may be redefined, for a Factory of MessagePack's or for its Packers and Unpackers. A
 * Factory of another class, or with a singleton class, may have methods of its own.
 */
bool mp_redefined_p(VALUE factory);

/*
 * The current MessagePack::DefaultFactory, if the program replaced the drop-in's, or if mp_redefined_p; else 0.
 * NameError if the program removed it.
 */
VALUE mp_redefined_default(void);

/*
 * True if these methods can make a call with these arguments (after the object or source). False if the last argument
 * is a Hash with an option that the msgpack gem does not know: as, canonical or codec.
 */
bool mp_called_by_methods_p(int argc, const VALUE *argv);

/* Packs as the msgpack gem does, with the arguments for Factory#packer. */
VALUE mp_pack_by_methods(VALUE factory, VALUE obj, int argc, const VALUE *argv);

/* Unpacks as the msgpack gem does. feed is the name of the method that takes a String. */
VALUE mp_unpack_by_methods(VALUE factory, VALUE source, VALUE options, const char *feed);

#endif
