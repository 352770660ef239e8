/* devices_impl.h - the table of device types, as devices.c and provider.c share it. */
#ifndef TN_CORE_DEVICES_IMPL_H
#define TN_CORE_DEVICES_IMPL_H

#include "core/base/devices.h"

enum { TN__DEVICE_NAME = 24 }; /* "name:32767" fits into the texts of tn__device_text */

typedef struct tn__device_type {
    const char *_Atomic name, *_Atomic key; /* of a plugin's: the texts below */
    tn__provider *_Atomic provider;         /* NULL: no memory */
    tn__provider *successor;                /* of a generation whose transaction is open */
    tn__provider *all;                      /* every one that the type ever had */
    char name_text[TN__DEVICE_NAME], key_text[TN__DEVICE_NAME];
} tn__device_type;
extern tn__device_type tn__device_types[TN_DEVICE_TYPES];

#endif
